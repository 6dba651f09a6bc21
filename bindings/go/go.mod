module rowbloom

go 1.19
